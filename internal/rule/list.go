package rule

// rules is the list of every rule that Review runs. Each was kept because what it found on real
// commits was worth a look; what was merely true is a linter's.
var rules = []rule{
	conflictMarker, sqlFromStrings, shellFromInput, tlsCheckOff, errorDropped, swallowedException, removeUnchecked,
	pipeToShell,
}
