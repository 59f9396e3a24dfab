const paid = xs.filter(async (x) => await isPaid(x)); //~ major
