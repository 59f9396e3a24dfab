package pgindex

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/index"
)

// Similar is index.Source's. HNSW is nearly exact; where paths are filtered it is not
// asked, since it may leave too few, and all that pass are compared.
func (x *Source) Similar(ctx context.Context, vector []float32, k int, f index.Filter) ([]index.Hit, error) {
	if x.info.Dimensions == 0 || len(vector) != x.info.Dimensions || k <= 0 {
		return nil, ctx.Err()
	}
	limited, cancel := asked(ctx)
	defer cancel()
	from, args := x.schema+".vector", []any{literal(vector), k}
	if keep := x.keep(f); keep != nil {
		var passing []int32
		for n := range x.sizes {
			if keep(n) {
				passing = append(passing, int32(n))
			}
		}
		from = "(SELECT n, embedding FROM " + from + " WHERE n = ANY($3) OFFSET 0)"
		args = append(args, passing)
	}
	kind := "vector"
	if x.info.Dimensions >= halfFrom {
		kind = "halfvec"
	}
	// some more are asked for than are wanted, so that equal ones come in their order
	rows, err := x.store.pool.Query(limited, fmt.Sprintf(`SELECT n, 1 - d FROM (SELECT n, embedding <=> $1::%s AS d
		FROM %s v ORDER BY d LIMIT $2 + 40) near ORDER BY d, n LIMIT $2`, kind, from), args...)
	if err != nil {
		return nil, x.store.explain("searching vectors", err)
	}
	var places []int
	cosines := map[int]float64{}
	var n int
	var cosine float64
	_, err = pgx.ForEachRow(rows, []any{&n, &cosine}, func() error {
		places, cosines[n] = append(places, n), cosine
		return nil
	})
	if err != nil {
		return nil, x.store.explain("searching vectors", err)
	}
	return x.hits(ctx, places, func(n int) float64 { return cosines[n] })
}
