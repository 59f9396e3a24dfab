//go:build noprograms

package setup

import "context"

func (c *Command) runGH(context.Context, ...string) error { return errNotHere }
