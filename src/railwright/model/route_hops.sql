-- A port that is known to be lossy is none of a lossless packet's way.
select target, port, peer
from link_end
where kind = 'switch' and peer_kind = 'switch' and (pfc_mask is null or pfc_mask <> 0)
