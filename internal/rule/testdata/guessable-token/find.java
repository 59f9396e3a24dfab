class A { long token = new Random().nextLong(); } //~ major
