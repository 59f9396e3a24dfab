package pgstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// oldestServer is the oldest supported server version, in Postgres's own numbering.
const oldestServer = 130000

// migrationLock is the key of the advisory lock for schema changes.
const migrationLock = 0x70725f726576696d

// migrations has one file for each version of the schema, in order. Never change
// a file that was released.
//
//go:embed migration/*.sql
var migrations embed.FS

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// migrate brings the schema up to date. If it is current, nothing is written, and
// a role without the right to create anything suffices.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil {
		return err
	}
	if have, err := version(ctx, s.pool, len(files)); err != nil || have == len(files) {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
			return err
		}
		have, err := version(ctx, tx, len(files)) // another process may have migrated first
		for ; err == nil && have < len(files); have++ {
			err = apply(ctx, tx, files[have], have+1)
		}
		return err
	})
}

func apply(ctx context.Context, tx pgx.Tx, file string, version int) error {
	sql, err := fs.ReadFile(migrations, file)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(sql)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO pr_review.migration (version) VALUES ($1)`, version)
	return err
}

// version returns the schema's version, 0 if there is no schema. A version above
// known, or a server that is too old, is an error. It queries a catalogue,
// because to_regclass may answer from a cache that predates the wait for a lock.
func version(ctx context.Context, q querier, known int) (have int, err error) {
	var server int
	var there bool
	err = q.QueryRow(ctx, `SELECT current_setting('server_version_num')::int,
		EXISTS (SELECT FROM pg_tables WHERE schemaname = 'pr_review' AND tablename = 'migration')`).Scan(&server,
		&there)
	if err == nil {
		err = checkServer(server)
	}
	if err != nil || !there {
		return 0, err
	}
	if err := q.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM pr_review.migration`).Scan(&have); err != nil {
		return 0, err
	}
	if have > known {
		return 0, &Error{err: fmt.Errorf("its schema pr_review has version %d, this program knows version %d", have,
			known), next: "use the newer version of this program that made it"}
	}
	return have, nil
}

func checkServer(number int) error {
	if number < oldestServer {
		return &Error{err: fmt.Errorf("the server is Postgres %d.%d", number/10000, number%10000),
			next: fmt.Sprintf("use a server of version %d or later", oldestServer/10000)}
	}
	return nil
}
