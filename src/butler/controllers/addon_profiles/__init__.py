"""AddonProfile → TenantAddons of all clusters that match, wave by wave."""
