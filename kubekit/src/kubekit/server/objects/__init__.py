"""What an object is, whatever its kind: schema, metadata, ownership of fields, patches, rules."""
