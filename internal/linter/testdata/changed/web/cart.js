export function total(items) {
  let sum = 0
  var unused = 1
  for (const item of items) {
    if (item.price == null) continue
    sum += eval(item.price)
  }
  return sum
}
