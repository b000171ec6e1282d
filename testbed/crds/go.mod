module butler/testbed/crds

go 1.26.0

// Only for the CRDs in them: their programs are not built here.
require (
	github.com/cert-manager/cert-manager v1.19.1
	github.com/clastix/cluster-api-control-plane-provider-kamaji v0.20.0
	github.com/ionos-cloud/cluster-api-provider-proxmox v0.9.0
	github.com/nutanix-cloud-native/cluster-api-provider-nutanix v1.10.3
	github.com/siderolabs/cluster-api-bootstrap-provider-talos v0.6.12
	sigs.k8s.io/cluster-api-ipam-provider-in-cluster v1.0.3
	sigs.k8s.io/cluster-api-provider-aws/v2 v2.11.1
	sigs.k8s.io/cluster-api-provider-azure v1.26.0
	sigs.k8s.io/cluster-api-provider-gcp v1.12.0
	sigs.k8s.io/cluster-api-provider-kubevirt v0.11.2
)
