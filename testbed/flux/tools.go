//go:build tools

// Package tools pins Flux's source-controller, an operator of another project.
package tools

import _ "github.com/fluxcd/source-controller"
