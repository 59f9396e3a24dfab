# export API_KEY=9fK2mX7qLwZ4vB8tRn3y
