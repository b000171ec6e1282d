"""Everything in one process: the embedded API, all controllers, and simulated stand-ins for what they drive."""
