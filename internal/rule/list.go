package rule

// rules is the list of every rule.
var rules = []rule{
	// Several languages.
	conflictMarker, credential, sqlFromStrings, shellFromInput, tlsCheckOff,
	guessableToken, unawaited,
	swallowedException, debuggerLeft, debugPrint,
	// Go.
	errorHandlingRemoved, errorDropped, errorCheckedLate, deferInLoop,
	// TypeScript and JavaScript.
	asyncPredicate, asyncForEach, focusedTest,
	// Python.
	mutableDefault, identityWithLiteral, unsafeLoad, assertTuple,
	// Java.
	stringIdentity,
	// Shell.
	removeUnchecked, pipeToShell,
}
