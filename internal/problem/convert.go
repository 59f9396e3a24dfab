package problem

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// explained is an error with all three parts, such as a *decision.Error.
type explained interface {
	error
	Problem() *Error
}

// Of returns any error in its three parts: its own Problem if it has one, otherwise its message
// as what was wrong, with the Next of the first error in its tree that has one.
func Of(err error) *Error {
	if own, ok := errors.AsType[explained](err); ok {
		return own.Problem()
	}
	what, where := err.Error(), ""
	var place interface{ Where() string }
	if errors.As(err, &place) {
		if rest, cut := strings.CutSuffix(what, ": "+place.Where()); cut {
			what, where = rest, place.Where()
		}
	}
	return newError(KindOf(err), what, next(err), At(where))
}

// KindOf returns the kind of an error, Failed if it has none.
func KindOf(err error) Kind {
	if m, ok := errors.AsType[marked](err); ok {
		return m.kind
	}
	if own, ok := errors.AsType[explained](err); ok {
		return own.Problem().Kind
	}
	return Failed
}

// Sentinel returns an error to compare with errors.Is, which says what to do about it.
func Sentinel(what, next string) error { return &sentinel{what, next} }

type sentinel struct{ what, next string }

func (s *sentinel) Error() string { return s.what }

// Next returns what to do about it.
func (s *sentinel) Next() string { return s.next }

// next returns what to do about an error, or "".
func next(err error) string {
	switch {
	case advice(err) != "":
		return advice(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "make room there, then run it again: what was finished is kept"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "check who may write there, or choose another folder with --store"
	case errors.Is(err, context.Canceled):
		return "run it again: what was finished is kept"
	}
	return ""
}

// advice returns the Next of the first error in a tree that has one, or "".
func advice(err error) string {
	if own, ok := err.(interface{ Next() string }); ok && own.Next() != "" {
		return own.Next()
	}
	switch x := err.(type) {
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			if next := advice(e); next != "" {
				return next
			}
		}
	case interface{ Unwrap() error }:
		if behind := x.Unwrap(); behind != nil {
			return advice(behind)
		}
	}
	return ""
}
