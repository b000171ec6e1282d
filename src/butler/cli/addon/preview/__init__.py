"""What a change of an addon would come to, worked out on this computer."""
