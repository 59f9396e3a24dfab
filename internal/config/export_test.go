package config

import "github.com/org/pr-review-action/internal/cost"

// Known lists the keys of every mapping by the key that holds it; ".*" stands for
// the names of a map and for the places of a list.
func Known() map[string][]string {
	all := map[string]keys{
		"": rootKeys(&Config{}), "admission": admissionKeys(&Admission{}), "models": modelKeys(&Models{}),
		"agent":         agentKeys(&Agent{}),
		"model-options": optionKeys(&ModelOptions{}), "prices.*": priceKeys(&cost.Price{}),
		"embeddings": embeddingKeys(&Embeddings{}), "rerank": rerankKeys(&Endpoint{}), "index": indexKeys(&Index{}),
		"guidelines.*": guidelineKeys(&Guideline{}),
		"report":       reportKeys(&Report{}),
		"linters":      linterKeys(&Linters{}),
		"comments":     commentKeys(&Comments{}), "environments.*": environmentKeys(&Environment{}),
		"modules.*": moduleKeys(&Module{}), "implement": implementKeys(&Implement{}),
		"context": contextKeys(&Context{}), "context.sources.*": sourceKeys(&Source{}),
		"context.sources.*.mcp":        serverKeys(&MCP{}),
		"context.sources.*.mcp.ticket": ticketToolKeys(&Tool{}), "context.sources.*.mcp.page": pageToolKeys(&Tool{}),
		"context.sources.*.mcp.comment": commentToolKeys(&Tool{}),
	}
	names := map[string][]string{}
	for under, known := range all {
		names[under] = known.names()
	}
	return names
}
