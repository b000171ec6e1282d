"""TenantAddon and ManagementAddon: one addon in one cluster, installed, kept and removed."""
