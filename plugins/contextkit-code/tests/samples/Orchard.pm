package Orchard::Tree;
use strict;
use warnings;

use parent 'Orchard::Plant';

our $VERSION = '1.0';

# Make a tree.
sub new {
  my ($class, %args) = @_;
  my $self = bless {%args}, $class;
  return $self;
}

=head2 water

Give it water.

=cut
sub water {
  my ($self, $litres) = @_;
  my $check = sub {
    my $amount = shift;
    return $amount > 0;
  };
  return $check->($litres) ? "$self->{name}: $litres" : undef;
}

sub height ($self, $unit = 'm') { return $self->{height} }

# What falls from a tree.
package Orchard::Apple;

sub ripe { 1 }

sub _rot {
  my $self = shift;
  $self->{ripe} = 0;
}

package Orchard::Basket {
  sub add { push @{$_[0]{apples}}, $_[1] }
}

1;

__END__

=head1 NAME

Orchard - trees

=head1 SYNOPSIS

  sub not_code { }
