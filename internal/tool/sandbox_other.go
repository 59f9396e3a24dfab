//go:build !linux

package tool

import (
	"context"
	"io"
)

// EnterSandbox does nothing where there is no sandbox.
func EnterSandbox() {}

func (s *Sandbox) confined(context.Context, string, io.Writer) (string, error) {
	return "", ErrNoSandbox
}
