#include <string>

namespace geometry {

/// A shape with an area.
class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;

    /// Its name.
    std::string name() const { return name_; }

private:
    std::string name_;
};

struct Point {
    double x, y;
    Point operator+(const Point& other) const { return {x + other.x, y + other.y}; }
};

enum class Colour { Red, Blue };

// Scales a shape.
template <typename T>
T scale(const T& value, double by) {
    return value * by;
}

}  // namespace geometry

double geometry::Circle::area() const {
    return 3.14 * radius * radius;
}

geometry::Circle::Circle(double radius) : radius(radius) {
}

int *find(int *values, int wanted) {
    return values;
}
