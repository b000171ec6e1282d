"""What a schema itself may say."""
