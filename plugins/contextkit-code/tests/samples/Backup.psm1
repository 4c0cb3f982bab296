using namespace System.IO

<#
.SYNOPSIS
Copies a folder.
#>
function Copy-Folder {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)]
        [string]$Path,

        [string]$Target = "$env:TEMP/backup"
    )

    function Test-Free([string]$Place) {
        return -not (Test-Path $Place)
    }

    if (Test-Free $Target) {
        Copy-Item -Path $Path -Destination $Target -Recurse
    }
}

function Get-Backup {
    <#
    .SYNOPSIS
    Lists what was copied.
    #>
    param([int]$Last = 10)

    Get-ChildItem | Select-Object -First $Last
}

# Only those of today.
filter Where-Today { if ($_.LastWriteTime -gt (Get-Date).Date) { $_ } }

enum State {
    Waiting
    Done
}

class Job : Base {
    [string]$Name
    [State]$State = [State]::Waiting

    Job([string]$name) {
        $this.Name = $name
    }

    # Starts it.
    [bool] Start([int]$tries) {
        return $tries -gt 0
    }

    static [Job] Make() { return [Job]::new('x') }
}

Export-ModuleMember -Function Copy-Folder, Get-Backup
