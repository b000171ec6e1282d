"""What stands between a valid request and the store: limits, quotas, policies, webhooks."""
