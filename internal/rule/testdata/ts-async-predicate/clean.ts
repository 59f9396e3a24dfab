const paid = xs.filter((x) => x.paid); // .filter(async
const all = await Promise.all(xs.map(async (x) => isPaid(x)));
