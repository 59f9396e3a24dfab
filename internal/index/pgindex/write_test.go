package pgindex

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/indextest"
)

// told is a transaction that notes what it is told.
type told struct {
	pgx.Tx
	statements []string
}

func (t *told) Exec(_ context.Context, sql string, _ ...any) (pgconn.CommandTag, error) {
	t.statements = append(t.statements, sql)
	return pgconn.CommandTag{}, nil
}

// Most machines have no pgvector to try these on.
func TestTheStatementsThatWriteVectorsNameTheSchemaWhereItBelongs(t *testing.T) {
	t.Parallel()
	x := indextest.Build(t, indextest.Files)
	vectors := map[string][]float32{}
	for _, c := range x.Chunks() {
		vectors[c.Key()] = []float32{0, 1}
	}
	tx := &told{}
	require.NoError(t, (&writer{ctx: t.Context(), tx: tx, x: x.WithVectors("m", 2, vectors), schema: "s"}).write())
	require.Subset(t, tx.statements, []string{
		`CREATE SCHEMA s`,
		`CREATE TABLE s.vector (n int, embedding halfvec(2))`,
		`INSERT INTO s.vector SELECT n, v::halfvec FROM unnest($1::int[], $2::text[]) u(n, v)`,
		`CREATE INDEX ON s.vector USING hnsw (embedding halfvec_cosine_ops)`,
	})
	tx.statements = nil
	require.NoError(t, (&writer{ctx: t.Context(), tx: tx, x: x, schema: "s"}).write())
	require.NotContains(t, tx.statements, `CREATE TABLE s.vector (n int, embedding halfvec(2))`)
}
