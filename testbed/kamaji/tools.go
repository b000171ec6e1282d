//go:build tools

// Package tools pins Kamaji, which hosts the control planes of tenant clusters.
package tools

import _ "github.com/clastix/kamaji"
