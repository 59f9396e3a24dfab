import x from 'y';
export abstract class A<T> extends B {
  private a = 1;
  @dec() m(x: number): void { return; }
  get p() { return 1 }
  arrow = () => { return 2 };
  abstract q(): void;
}
export const f = async (a) => { a };
export default function g() {}
declare module "foo" { export function h(): void; }
namespace N { export class C {} }
enum E { A, B }
export type T = { a: number };
function over(a: string): void;
function over(a: any) {}
res.send = res.x = function send(a) {};
module.exports = { foo() {}, bar: function () {}, baz: 1 };
test('x', () => {
});
