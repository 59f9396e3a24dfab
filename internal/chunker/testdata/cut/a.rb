require 'x'
module M
  # doc
  class A < B
    attr_reader :x
    X = 1
    def m(a) = 1
    def self.s
    end
    class << self
      def t; end
    end
  end
end
describe "x" do
  it "y" do
    1
  end
end
