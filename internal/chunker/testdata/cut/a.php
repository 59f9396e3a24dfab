<?php
namespace A\B;
use X\Y;
/** doc */
class A extends B { 
  const X = 1;
  private $y = 2;
  public function m(int $a): int { return 1; }
}
interface I { function q(); }
trait T { function r() {} }
function f() {}
enum E { case A; }
