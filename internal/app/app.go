package app

import (
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/local"
)

// Process is what the program is started with.
type Process = driver.Process

// app is one invocation.
type app struct{ *local.Terminal }
