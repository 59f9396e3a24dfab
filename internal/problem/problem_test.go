package problem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProblemSaysWhatWhereAndNextOnLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	e := &Error{What: "unknown key\n::error::", Rows: [][2]string{
		At("a.yml:7"), {"a longer label", "x"}, {"", "did you mean \"ignore\"?\x1b[2J"},
	}}
	require.Equal(t, "unknown key ::error::\n  where           a.yml:7\n  a longer label  x\n  did you mean "+
		"\"ignore\"?<U+001B>[2J", e.Error())
	require.Equal(t, "x", New("x", "", "").Error(), "empty parts have no line")
}

// answered is an error of a place, as transport's of a status.
type answered struct{ next string }

func (answered) Error() string  { return "GET /x answered 500" }
func (answered) Where() string  { return "GET /x answered 500" }
func (a answered) Next() string { return a.next }

func TestAnyErrorIsToldInThreeParts(t *testing.T) {
	t.Parallel()
	gone := Sentinel("it is gone", "look elsewhere")
	own := Refuse(4, "no", "later", At("here"))
	for name, c := range map[string]struct {
		err  error
		want *Error
	}{
		"its own": {fmt.Errorf("reading: %w", own), own},
		"marked": {As(Misuse, fmt.Errorf("reading: %w", gone), ""),
			&Error{Kind: Misuse, What: "reading: it is gone", Rows: [][2]string{{"next", "look elsewhere"}}}},
		"with other advice": {As(Refused, gone, "stop"),
			&Error{Kind: Refused, What: "it is gone", Rows: [][2]string{{"next", "stop"}}}},
		"of a place": {fmt.Errorf("reading: %w", answered{"wait"}),
			&Error{What: "reading", Rows: [][2]string{At("GET /x answered 500"), {"next", "wait"}}}},
		"several": {errors.Join(errors.New("a"), fmt.Errorf("b: %w: %w", answered{}, gone)),
			&Error{What: "a\nb: GET /x answered 500: it is gone", Rows: [][2]string{{"next", "look elsewhere"}}}},
		"of a full quota": {&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT},
			&Error{What: "write x: disk quota exceeded",
				Rows: [][2]string{{"next", "make room there, then run it again: what was finished is kept"}}}},
		"of a limit of files": {&fs.PathError{Op: "write", Path: "x", Err: syscall.EFBIG},
			&Error{What: "write x: file too large",
				Rows: [][2]string{{"next", "make room there, then run it again: what was finished is kept"}}}},
		"of the file system": {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission},
			&Error{What: "open x: permission denied",
				Rows: [][2]string{{"next", "check who may write there, or choose another folder with --store"}}}},
		"cancelled": {context.Canceled, &Error{What: "context canceled",
			Rows: [][2]string{{"next", "run it again: what was finished is kept"}}}},
		"of nobody": {errors.New("x"), &Error{What: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Of(c.err)
			require.Equal(t, c.want.Error(), got.Error())
			require.Equal(t, c.want.Kind, got.Kind)
			require.Equal(t, c.want.Kind, KindOf(c.err))
			require.Equal(t, c.want.Check, Check(c.err))
		})
	}
}
