//go:build tools

// Package tools pins the etcd that the real API server stores into.
package tools

import _ "go.etcd.io/etcd/server/v3"
