<?php

namespace App\Mail;

/**
 * Sends mail.
 */
final class Mailer implements Transport
{
    use Logs;

    public function __construct(private string $host) {}

    /** Send one message. */
    public function send(string $to, string $body): bool
    {
        return true;
    }
}

interface Transport
{
    public function send(string $to, string $body): bool;
}

trait Logs
{
    protected function log(string $line): void
    {
        error_log($line);
    }
}

enum Priority: int
{
    case Low = 1;

    public function label(): string
    {
        return 'low';
    }
}

// Quote a header.
function quote_header(string $value): string
{
    return '"' . $value . '"';
}
