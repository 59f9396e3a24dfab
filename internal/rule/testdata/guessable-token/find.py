reset_token = "".join(random.choice(letters) for _ in range(20)) #~ major
