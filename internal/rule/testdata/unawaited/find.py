async def save(x):
    await put(x)

async def run():
    save(1) #~ major
