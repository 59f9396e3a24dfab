print("usage: a b")
print(f"total={total}")
