async def save(x):
    await put(x)

async def run():
    task = save(1)
    await save(2)

asyncio.run(run())
