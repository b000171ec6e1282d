"""ValidatingAdmissionPolicies: rules in CEL that requests must follow, and the conditions of webhooks."""
