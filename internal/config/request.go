package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/pattern"
)

// takenHeaders lists headers that belong to the client or the connection.
var takenHeaders = strings.Fields(`
	authorization proxy-authorization api-key x-api-key cookie host connection content-type content-length
	content-encoding transfer-encoding accept accept-encoding expect te trailer upgrade`)

var headerName = pattern.Lazy(`^[A-Za-z0-9_-]+$`)

// checkHeader returns an error if an extra header of model-options has an invalid name or
// one that belongs to the client.
func checkHeader(name string) error {
	switch {
	case slices.Contains(takenHeaders, strings.ToLower(name)):
		return fmt.Errorf("model-options: headers: %s cannot be set there", name)
	case !headerName().MatchString(name):
		return fmt.Errorf("model-options: headers: %.60q is not the name of a header", name)
	}
	return nil
}

// takenFields lists body fields that the client sets, that have their own setting,
// through which a call could cost more than was reserved for it (several answers, dearer
// tiers, searches, a server's own retries and texts), or through which another model than
// the named one would answer.
var takenFields = strings.Fields(`
	model models messages input instructions tools functions tool_choice function_call response_format text stream
	stream_options store include background previous_response_id conversation prompt temperature seed
	reasoning_effort max_tokens max_completion_tokens max_output_tokens max_new_tokens max_tokens_to_sample
	n_predict num_predict n best_of num_return_sequences candidate_count use_beam_search prediction modalities
	audio service_tier speed inference_geo num_retries max_retries plugins web_search web_search_options
	search_parameters enable_search mcp_servers data_sources transforms fallbacks context_window_fallbacks
	context_window_fallback_dict content_policy_fallbacks fallback_models route preset mock_response deployment_id
	custom_llm_provider api_base base_url api_key user_config model_list extra_body extra_headers extra_query`)

// CheckField returns an error if model-options.body may not set a field of the request.
func CheckField(name string) error {
	if name == "" || slices.Contains(takenFields, strings.ToLower(name)) {
		return fmt.Errorf("model-options: body: %.60q cannot be set there", name)
	}
	return nil
}

// headers reads a map of texts. It rejects names that differ only in case: they are one
// header, whose value would be ambiguous.
func (r *reader) headers(n ast.Node) map[string]string {
	lower := map[string]bool{}
	return r.textMap(n, func(e *ast.MappingValueNode, value string) {
		name := keyName(e.Key)
		if lower[strings.ToLower(name)] {
			r.fail(e.Key, "the header %.60q appears twice", name)
		}
		lower[strings.ToLower(name)] = true
		r.refuse(e.Key, checkHeader(name))
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) { // a credential, maybe
			r.fail(e.Value, "model-options: headers: the value of %.60s contains a line break or a character "+
				"outside ASCII", name)
		}
	})
}

// textMap reads a map of texts, each of which check looks at.
func (r *reader) textMap(n ast.Node, check func(e *ast.MappingValueNode, value string)) map[string]string {
	all := map[string]string{}
	for _, e := range r.entries(n) {
		var s string
		if r.text(e.Value, &s) {
			check(e, s)
			all[keyName(e.Key)] = s
		}
	}
	return all
}

// refuse records the error of a check at a node, if there is one.
func (r *reader) refuse(n ast.Node, err error) {
	if err != nil {
		r.fail(n, "%v", err)
	}
}

// values reads a mapping of plain values: texts, numbers, booleans, lists and maps of them.
func (r *reader) values(n ast.Node) (all map[string]any) {
	err := yaml.NodeToValue(n, &all, yaml.Strict())
	if err == nil {
		_, err = json.Marshal(all) // which has no endless numbers
	}
	if err != nil || len(ast.Filter(ast.AliasType, n)) > 0 {
		r.fail(n, "expected keys with plain values")
		return nil
	}
	return all
}
