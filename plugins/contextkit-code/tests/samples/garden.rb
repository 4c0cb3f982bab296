# Plants and beds.
module Garden
  # A bed of plants.
  class Bed < Area
    attr_reader :plants

    def initialize(plants)
      @plants = plants
    end

    # Water every plant.
    def water!(litres)
      plants.each { |plant| plant.water(litres) }
    end

    def self.empty
      new([])
    end

    class << self
      def build(*names)
        new(names)
      end
    end
  end
end

# Dig a hole.
def dig(depth)
  depth * 2
end
