package cost

// lists holds the built-in prices, as the pages behind the vendors' names have them. Where public
// lists of that day disagreed on a price, the higher one is used, so that a cap holds. Models whose
// price depends on prompts shorter than 200,000 tokens are omitted.
var lists = []list{
	// platform.openai.com/docs/pricing; the same at Azure
	{vendors: "openai azure", rows: []row{
		{"gpt-5.6 gpt-5.6-sol", 5, 0.5, 30, 6.25},
		{"gpt-5.6-terra", 2.5, 0.25, 15, 3.125},
		{"gpt-5.6-luna", 1, 0.1, 6, 1.25},
		{"gpt-5.5", 5, 0.5, 30, 0},
		{"gpt-5.5-pro gpt-5.4-pro", 30, 0, 180, 0},
		{"gpt-5.4", 2.5, 0.25, 15, 0},
		{"gpt-5.4-mini", 0.75, 0.075, 4.5, 0},
		{"gpt-5.4-nano", 0.2, 0.02, 1.25, 0},
		{"gpt-5.3-codex gpt-5.3-chat gpt-5.3-chat-latest", 1.75, 0.175, 14, 0},
		{"gpt-5.2 gpt-5.2-codex gpt-5.2-chat gpt-5.2-chat-latest", 1.75, 0.175, 14, 0},
		{"gpt-5.2-pro", 21, 0, 168, 0},
		{"gpt-5.1 gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-chat gpt-5.1-chat-latest", 1.25, 0.125, 10, 0},
		{"gpt-5 gpt-5-codex gpt-5-chat gpt-5-chat-latest", 1.25, 0.125, 10, 0},
		{"gpt-5-mini gpt-5.1-codex-mini", 0.25, 0.025, 2, 0},
		{"gpt-5-nano", 0.05, 0.005, 0.4, 0},
		{"gpt-5-pro", 15, 0, 120, 0},
		{"gpt-4.1", 2, 0.5, 8, 0},
		{"gpt-4.1-mini", 0.4, 0.1, 1.6, 0},
		{"gpt-4.1-nano", 0.1, 0.025, 0.4, 0},
		{"gpt-4o", 2.5, 1.25, 10, 0},
		{"gpt-4o-2024-05-13", 5, 0, 15, 0},
		{"gpt-4o-mini", 0.15, 0.075, 0.6, 0},
		{"o1", 15, 7.5, 60, 0},
		{"o1-pro", 150, 0, 600, 0},
		{"o3", 2, 0.5, 8, 0},
		{"o3-mini", 1.1, 0.55, 4.4, 0},
		{"o3-pro", 20, 0, 80, 0},
		{"o4-mini", 1.1, 0.275, 4.4, 0},
		{"gpt-4-turbo", 10, 0, 30, 0},
		{"gpt-4", 30, 0, 60, 0},
		{"gpt-3.5-turbo gpt-3.5-turbo-0125", 0.5, 0, 1.5, 0},
		{models: "text-embedding-3-small", input: 0.02},
		{models: "text-embedding-3-large", input: 0.13},
		{models: "text-embedding-ada-002", input: 0.1},
	}},
	// docs.claude.com/en/docs/about-claude/pricing, with cache writes that last five minutes
	{vendors: "anthropic", rows: []row{
		{"claude-fable-5 claude-mythos-5", 10, 1, 50, 12.5},
		{"claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5", 5, 0.5, 25, 6.25},
		{"claude-opus-4-1 claude-opus-4 claude-4-opus claude-3-opus", 15, 1.5, 75, 18.75},
		{"claude-sonnet-5", 2, 0.2, 10, 2.5},
		{"claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4 claude-4-sonnet claude-3-7-sonnet", 3, 0.3, 15, 3.75},
		{"claude-haiku-4-5", 1, 0.1, 5, 1.25},
		{"claude-3-haiku", 0.25, 0.03, 1.25, 0.3},
	}},
	// ai.google.dev/gemini-api/docs/pricing, for text
	{vendors: "google gemini vertex_ai models", rows: []row{
		{"gemini-3.6-flash", 1.5, 0.15, 7.5, 0},
		{"gemini-3.5-flash", 1.5, 0.15, 9, 0},
		{"gemini-3.5-flash-lite", 0.3, 0.03, 2.5, 0},
		{"gemini-3.1-pro-preview gemini-3-pro-preview", 2, 0.2, 12, 0},
		{"gemini-3.1-flash-lite gemini-3.1-flash-lite-preview", 0.25, 0.025, 1.5, 0},
		{"gemini-3-flash-preview", 0.5, 0.05, 3, 0},
		{"gemini-2.5-pro", 1.25, 0.125, 10, 0},
		{"gemini-2.5-flash", 0.3, 0.03, 2.5, 0},
		{"gemini-2.5-flash-lite", 0.1, 0.01, 0.4, 0},
		{"gemini-2.0-flash gemini-2.0-flash-001", 0.1, 0.025, 0.4, 0},
		{"gemini-2.0-flash-lite gemini-2.0-flash-lite-001", 0.075, 0.01875, 0.3, 0},
	}},
	// mistral.ai/pricing
	{vendors: "mistral mistralai", rows: []row{
		{"mistral-large-2512", 0.5, 0.05, 1.5, 0},
		{"mistral-large-2411", 2, 0, 6, 0},
		{"mistral-medium-3-5 mistral-medium-2604", 1.5, 0, 7.5, 0},
		{"mistral-medium-3.1 mistral-medium-2508 mistral-medium-3 mistral-medium-2505", 0.4, 0, 2, 0},
		{"mistral-small-2603", 0.15, 0.015, 0.6, 0},
		{"codestral-2508", 0.3, 0.03, 0.9, 0},
		{"devstral-2512 devstral-medium-2507", 0.4, 0, 2, 0},
		{"devstral-small-2507", 0.1, 0, 0.3, 0},
		{"magistral-medium-2509 magistral-medium-2506", 2, 0, 5, 0},
		{"ministral-8b-2512", 0.15, 0.015, 0.15, 0},
	}},
	// api-docs.deepseek.com/quick_start/pricing
	{vendors: "deepseek", rows: []row{
		{"deepseek-v4-pro", 0.435, 0.003625, 0.87, 0},
		{"deepseek-v4-flash", 0.14, 0.028, 0.28, 0},
	}},
	// docs.x.ai/docs/models
	{vendors: "xai x-ai", rows: []row{
		{"grok-4.5", 2, 0.5, 6, 0},
		{"grok-4.3", 1.25, 0.2, 2.5, 0},
		{"grok-4.20 grok-4.20-0309-reasoning grok-4.20-0309-non-reasoning", 2, 0.2, 6, 0},
		{"grok-build-0.1", 1, 0.2, 2, 0},
		{"grok-code-fast-1", 0.2, 0.02, 1.5, 0},
		{"grok-3", 3, 0.75, 15, 0},
		{"grok-3-mini", 0.3, 0.075, 0.5, 0},
	}},
	// alibabacloud.com/help/en/model-studio/model-pricing, international
	{vendors: "qwen dashscope", rows: []row{
		{"qwen3.7-max", 2.5, 0.5, 7.5, 0},
		{"qwen3.7-plus", 0.4, 0, 1.6, 0},
		{"qwen3.5-plus", 0.4, 0, 2.4, 0},
		{"qwen-plus qwen-plus-2025-07-28 qwen-plus-latest", 0.4, 0, 1.2, 0.5},
		{"qwen-max", 1.6, 0, 6.4, 0},
		{"qwen-flash", 0.05, 0, 0.4, 0},
		{"qwen-turbo", 0.05, 0, 0.2, 0},
	}},
	// docs.voyageai.com/docs/pricing; its rerankers bill by tokens
	{vendors: "voyage voyageai", rows: []row{
		{models: "voyage-4-large", input: 0.12},
		{models: "voyage-4 voyage-3.5", input: 0.06},
		{models: "voyage-4-lite voyage-3.5-lite", input: 0.02},
		{models: "voyage-code-3 voyage-3-large", input: 0.18},
		{models: "rerank-2.5", input: 0.05},
		{models: "rerank-2.5-lite", input: 0.02},
	}},
	// cohere.com/pricing, for a thousand searches
	{vendors: "cohere", searches: true, rows: []row{{models: "rerank-v3.5", input: 2}}},
}
