use a::b;
/// doc
#[derive(Debug)]
pub struct S<T> { a: i32 }
impl<T> Tr for S<T> where T: X { fn m(&self) {} const C: u8 = 1; }
trait Tr { fn q(); fn r() {} }
mod tests { #[test] fn t() {} }
macro_rules! mm { () => {} }
enum E { A }
pub const K: u8 = 1;
static ST: u8 = 2;
type TT = u8;
union U { a: u8 }
