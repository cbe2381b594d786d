select target, pci, name, port, element, code as now, wanted_code as wanted, refused, parameter, device
from stored_parameter
where name in (
    'PHY_FEC_OVERRIDE', 'PHY_RATE_MASK_OVERRIDE', 'PHY_RATE_MASK', 'PHY_AUTO_NEG', 'PHY_IB_NDR_FEC_OVERRIDE', 'IB_PROTO_WIDTH_EN_MASK'
)
