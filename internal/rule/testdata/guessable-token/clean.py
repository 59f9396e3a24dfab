token = random.SystemRandom().choice(letters)
token = secrets.token_hex()
token_count = len(tokens)
tokenizer_seed = random.random()
