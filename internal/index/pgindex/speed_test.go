package pgindex_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/index/pgindex"
	"github.com/org/pr-review-action/internal/indextest"
)

// BenchmarkLexical asks the same question of the index in memory and of the one in
// Postgres, over 16,000 chunks.
func BenchmarkLexical(b *testing.B) {
	if server == nil {
		b.Skip("no Postgres server")
	}
	x := indextest.Build(b, repository(2_000))
	s, err := pgindex.Open(b.Context(), server.Database(b), "")
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	found, err := s.Write(b.Context(), index.Key{Repository: "r", Commit: "c"}, x, index.Report{})
	require.NoError(b, err)
	terms := index.Terms("w1 w7 w30 w80 w120")
	for name, source := range map[string]*index.Source{"memory": x.Source, "postgres": found} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := source.Lexical(b.Context(), terms, 40, index.Filter{})
				require.NoError(b, err)
			}
		})
	}
}
