//go:build !linux

package sandbox

import (
	"context"
	"io"
)

// Enter does nothing where there is no sandbox.
func Enter() {}

func (*Command) confined(context.Context, string, io.Writer) (string, error) {
	return "", ErrUnavailable
}
