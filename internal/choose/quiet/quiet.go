// Package quiet keeps the terminal library from talking to the terminal while
// the program starts.
//
// Bubble Tea 1 asks for the background colour in its own initialisation, so
// that every command on a terminal would write a query, swallow what was typed
// ahead and, where nothing answers, wait for 5 seconds. It does not ask where CI
// is set. Go initialises packages in the order of their paths as soon as what
// they import is ready (the language's specification, "Program initialization");
// this one imports os alone and is therefore ready before the library, which
// needs more of the standard library. Package choose gives the variable back.
package quiet

import "os"

const variable = "CI"

// before is what stood in the environment.
var before, given = hold()

func hold() (value string, ok bool) {
	value, ok = os.LookupEnv(variable)
	if value == "" {
		_ = os.Setenv(variable, "true") // fails for an impossible name alone
	}
	return value, ok
}

// Release puts the environment back as it was and reports true. It is called
// once, in the initialisation of what imports the library.
func Release() bool {
	if given {
		_ = os.Setenv(variable, before)
	} else {
		_ = os.Unsetenv(variable)
	}
	return true
}
