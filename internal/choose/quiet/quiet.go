// Package quiet keeps the terminal library from querying the terminal while the program
// starts.
//
// Bubble Tea 1 asks for the background colour in its own initialisation, so that every
// command on a terminal would write a query, swallow input typed ahead and, if nothing
// answers, wait for 5 seconds. It does not ask if CI is set. Go initialises packages in the
// order of their paths as soon as their imports are ready (the language's specification,
// "Program initialization"); this one imports only os and is therefore ready before the
// library, which needs more of the standard library. Package choose restores the variable.
package quiet

import "os"

const variable = "CI"

// before is the variable's original value.
var before, given = hold()

func hold() (value string, ok bool) {
	value, ok = os.LookupEnv(variable)
	if value == "" {
		_ = os.Setenv(variable, "true") // fails only for an invalid name
	}
	return value, ok
}

// Release restores the environment and returns true. The importer of the library calls it
// once, in its initialisation.
func Release() bool {
	if given {
		_ = os.Setenv(variable, before)
	} else {
		_ = os.Unsetenv(variable)
	}
	return true
}
