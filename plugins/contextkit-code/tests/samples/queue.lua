local Queue = {}
Queue.__index = Queue

--- Make a queue.
function Queue.new(limit)
  return setmetatable({ limit = limit }, Queue)
end

--- Add one value.
-- Over the limit nothing is added.
function Queue:push(value)
  self[#self + 1] = value
end

local function clamp(value, limit)
  return math.min(value, limit)
end

local double = function(value)
  return value * 2
end

Queue.size = function(self)
  return #self
end

return Queue
