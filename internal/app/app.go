package app

import (
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/local"
)

// Process holds the arguments, environment and streams that the program starts with.
type Process = driver.Process

// app is one invocation of the program.
type app struct{ *local.Terminal }
