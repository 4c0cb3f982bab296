"""
Tides of a coast.
"""
module Tides

using Dates: DateTime
import Base: show

export level, Station

abstract type Place end

"""
    Station(name, mean)

Where the sea is measured.
"""
struct Station{T<:Real} <: Place
    name::String
    mean::T

    Station(name) = new{Float64}(name, 0.0)
end

Base.@kwdef mutable struct Gauge
    zero::Float64 = 0.0
end

const Metres = Float64

#=
Not a docstring of anything =#

"The level at an hour."
level(station::Station, hour::Int=0)::Float64 = station.mean + sin(hour)

@inline function level(station::Station{T}, hours::AbstractVector{<:Real}) where {T}
    scaled(hour) = hour / 12
    return [level(station, hour) for hour in scaled.(hours)]
end

# Shown in one line.
function Base.show(io::IO, station::Station)
    print(io, station.name)
end

Base.:(==)(a::Station, b::Station) = a.name == b.name

(gauge::Gauge)(value) = value - gauge.zero

function placeholder end

"""
    @tide expression

Run it at high tide.
"""
macro tide(expression)
    return esc(expression)
end

module Units
feet(metres) = metres * 3.28
end

end
