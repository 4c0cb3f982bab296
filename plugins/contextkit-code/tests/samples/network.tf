# Names the providers that this module needs.
terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  description = "Where everything runs"
  type        = string
  default     = "eu-central-1"
}

locals {
  tags = { team = "harbour" }
}

data "aws_availability_zones" "open" {
  state = "available"
}

# The network of one harbour.
# Ships have their own.
resource "aws_vpc" "this" {
  count = var.enabled ? 1 : 0

  cidr_block = "10.0.0.0/16"
  tags       = local.tags

  lifecycle {
    prevent_destroy = true
  }
}

module "subnets" {
  source = "./subnets"
  vpc_id = aws_vpc.this[0].id
}

output "vpc_id" {
  value = try(aws_vpc.this[0].id, null)
}

moved {
  from = aws_vpc.main
  to   = aws_vpc.this
}

check "health" {
  assert {
    condition     = length(aws_vpc.this) > 0
    error_message = "There is no network."
  }
}
