package chunker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunker"
)

// Behind some other forms, the grammar finds an error in a list.
func TestAListInPHPIsNotBroken(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"[$kind, $name] = split(Writer::MARK, (string)$part['id']);": false,
		"[$kind,\n $name, $n] = split($part);":                       false,
		"$all = [$kind, $name];":                                     false,
		"[$kind, $name = split($part);":                              true,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			text := "<?php\nclass Reader extends Base implements Source\n{\n    public function __construct(Escaper " +
				"$escaper, Resolver $resolver)\n    {\n    }\n    public function read(string $id, int $step): ?Result\n" +
				"    {\n        foreach ($file->body->{'trans-unit'} as $part) {\n            " + body +
				"\n        }\n    }\n}\n"
			errors, _ := chunker.New().Broken(t.Context(), "a.php", text)
			require.Equal(t, want, errors)
		})
	}
}
