"""Stand-ins for what Butler drives. Everything here is simulated, and nothing outside `local` may know it."""
